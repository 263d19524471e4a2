// Pictures for the model: made small enough before they are sent, since a model looks at no more than this anyway.

/** A picture as a block of a message. Throws words for a person if it is none. */
export async function pictureBlock(file) {
  if (!file.type.startsWith("image/")) throw new Error(`${file.name || "This"} is no picture.`);
  const isFit = KINDS.includes(file.type) && file.size <= MOST_BYTES;
  let bitmap;
  try {
    bitmap = await createImageBitmap(file);
  } catch {
    throw new Error(`${file.name || "The picture"} cannot be read.`);
  }
  const scale = Math.min(1, LONGEST_SIDE / Math.max(bitmap.width, bitmap.height));
  if (isFit && scale === 1) return block(file);
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(bitmap.width * scale));
  canvas.height = Math.max(1, Math.round(bitmap.height * scale));
  canvas.getContext("2d").drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/jpeg", 0.9));
  if (!blob) throw new Error("The picture cannot be made smaller.");
  return block(blob);
}

async function block(blob) {
  const url = await new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result);
    reader.onerror = () => reject(new Error("The picture cannot be read."));
    reader.readAsDataURL(blob);
  });
  return { type: "image", source: { type: "base64", media_type: blob.type, data: url.slice(url.indexOf(",") + 1) } };
}

/** What the model takes. */
const KINDS = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const LONGEST_SIDE = 1568;
const MOST_BYTES = 1_000_000;
