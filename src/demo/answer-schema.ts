import type { StandardSchemaV1 } from "@standard-schema/spec";

/**
 * A minimal Standard Schema from a function that returns the parsed value, or throws a sentence that says what is expected. Real agents use Zod,
 * Valibot, ArkType or another library that supports Standard Schema.
 */
export function answerSchema<T>(understand: (answer: unknown) => T): StandardSchemaV1<unknown, T> {
  return {
    "~standard": {
      version: 1,
      vendor: "palaver-demo",
      validate(answer) {
        try {
          return { value: understand(answer) };
        } catch (error) {
          return { issues: [{ message: error instanceof Error ? error.message : String(error) }] };
        }
      },
    },
  };
}
