// Places (pure): where somebody is, as the address says, and which folders can be looked at. Addresses are `#/`,
// `#/new`, `#/s/ID`, `#/s/ID/SEQ`, `#/past/ID?directory=…`.

/** The place that stands behind the `#`: `{place, id, seq, directory}`. Any address is one, however it came about. */
export function placeIn(hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?");
  const [place = "", id = "", seq = ""] = path.split("/").map(decoded);
  return { place, id, seq: Number(seq) || null, directory: new URLSearchParams(query).get("directory") ?? "" };
}

/** Whether a folder is one of the roots or inside of one, as far as its name tells. */
export function isInside(folder, roots) {
  const whole = (path) => path.replace(/\/*$/, "/");
  return roots.some((root) => whole(folder).startsWith(whole(root)));
}

/** A part of an address; one that was cut or typed by hand may not be decodable, and is taken as it stands. */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
