/** Thrown by `task.reject()`: the task ends as `rejected`. */
export class Rejection extends Error {
  override readonly name = "Rejection";
}
