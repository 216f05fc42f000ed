import type { Children } from "../process/children/children.ts";
import type { ProcessSettings } from "../process/process-options.ts";
import type { AcpSettings } from "./acp-options.ts";

/** What a run needs to start its program. */
export interface AcpHost {
  readonly settings: AcpSettings;
  readonly program: ProcessSettings;
  readonly children: Children;
}
