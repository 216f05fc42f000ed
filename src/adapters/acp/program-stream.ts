import type { Child } from "../process/children/child.ts";
import { processFailure } from "../process/process-failure.ts";

/** The standard input and output of a program as web streams. */
export interface ProgramStream {
  readonly input: ReadableStream<Uint8Array>;
  readonly output: WritableStream<Uint8Array>;
  /** Why reading ended: a failure, or `undefined`. */
  failure(): Error | undefined;
}

/** Output over `maxOutput` bytes ends the stream with a failure. The program is read only as fast as its output is handled. */
export function programStream(child: Child, maxOutput: number): ProgramStream {
  let failure: Error | undefined;
  let bytes = 0;
  /** Nobody reads any more: the rest of the output is dropped. */
  let isCanceled = false;
  let room = Promise.withResolvers<void>();
  const input = new ReadableStream<Uint8Array>({
    start(controller) {
      const read = async (chunk: Uint8Array): Promise<void> => {
        bytes += chunk.length;
        if (bytes > maxOutput)
          throw processFailure("process-output-too-large", `The program wrote more than ${maxOutput} bytes.`);
        if (isCanceled) return;
        room = Promise.withResolvers();
        controller.enqueue(chunk);
        if ((controller.desiredSize ?? 1) <= 0) await room.promise;
      };
      child.readOutput(read).then(
        () => {
          if (!isCanceled) controller.close();
        },
        (error: unknown) => {
          failure = error instanceof Error ? error : new Error(String(error));
          if (!isCanceled) controller.error(failure);
        },
      );
    },
    pull: () => room.resolve(),
    cancel() {
      isCanceled = true;
      room.resolve();
    },
  });
  const output = new WritableStream<Uint8Array>({ write: (chunk) => child.write(chunk) });
  return { input, output, failure: () => failure };
}
