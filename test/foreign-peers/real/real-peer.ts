import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Json } from "../json.ts";
import type { Conversation, RunningPeer } from "../peer.ts";

/** How to install and run the real package instead of its script. */
export interface RealPeer {
  /** The name of the scripted peer. */
  readonly name: string;
  /** npm packages and their exact versions. */
  readonly packages: Readonly<Record<string, string>>;
}

export interface RealClient extends RealPeer {
  load(modules: Modules): Promise<(url: string) => Promise<Conversation>>;
}

export interface RealServer extends RealPeer {
  load(modules: Modules): Promise<() => Promise<RunningPeer>>;
}

/** Imports modules from a folder that packages were installed into. */
export class Modules {
  readonly folder: string;
  readonly #import: (specifier: string) => Promise<Json>;

  private constructor(folder: string, importer: (specifier: string) => Promise<Json>) {
    this.folder = folder;
    this.#import = importer;
  }

  static async of(folder: string): Promise<Modules> {
    const path = join(folder, "import-here.mjs");
    await writeFile(path, "export const importHere = (specifier) => import(specifier);\n");
    const { importHere } = (await import(pathToFileURL(path).href)) as {
      importHere: (specifier: string) => Promise<Json>;
    };
    return new Modules(folder, importHere);
  }

  /** Imports a module by name, or a file of a package by its path from `node_modules/` on. */
  import<Module>(specifier: string): Promise<Module> {
    return this.#import(specifier.startsWith("node_modules/") ? `./${specifier}` : specifier) as Promise<Module>;
  }
}
