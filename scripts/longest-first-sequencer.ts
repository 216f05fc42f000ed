import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Projects whose files wait for databases and processes. */
const WAITING_PROJECTS: readonly string[] = ["three-nodes", "postgres", "own-process"];

/** Folders whose files take seconds. The files beside the sources take milliseconds. */
const SLOW_FOLDERS: readonly string[] = ["test", "chaos"];

/**
 * Runs short files last, so that no long one runs alone at the end. Vitest's own order is by the name of the project, and within a project by the
 * durations of the last run, or, in a new clone, by the sizes of the files.
 */
export default class LongestFirstSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => this.#rankOf(one) - this.#rankOf(other));
  }

  #rankOf({ project, moduleId }: TestSpecification): number {
    const rank = WAITING_PROJECTS.indexOf(project.name);
    if (rank !== -1) return rank;
    const [folder = ""] = relative(this.ctx.config.root, moduleId).split(/[/\\]/);
    return WAITING_PROJECTS.length + (SLOW_FOLDERS.includes(folder) ? 0 : 1);
  }
}
