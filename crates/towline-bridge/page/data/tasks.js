// The list that an agent keeps with its task tools (pure): what each call made of it, as a list of things to do.

/** Takes in what a call has done to the list (`tasks`, by id). Gives the list as it is then; nothing for other calls. */
export function afterCall(tasks, { name, input }, whole) {
  if (name === "TaskCreate" && whole?.task) {
    const { id, subject } = whole.task;
    tasks.set(id, { content: subject, activeForm: input.activeForm, status: "pending" });
  } else if (name === "TaskUpdate" && whole?.success) {
    const { taskId: id, status, subject, activeForm } = input;
    // It may have been made before what is known here.
    const known = tasks.get(id) ?? { content: `Task ${id}`, status: "pending" };
    if (status === "deleted") tasks.delete(id);
    else tasks.set(id, { content: subject ?? known.content, activeForm: activeForm ?? known.activeForm, status: status ?? known.status });
  } else if (name === "TaskList" && Array.isArray(whole?.tasks)) {
    const known = new Map(tasks);
    tasks.clear();
    for (const { id, subject, status } of whole.tasks) tasks.set(id, { content: subject, activeForm: known.get(id)?.activeForm, status });
  } else return null;
  return [...tasks.values()];
}
