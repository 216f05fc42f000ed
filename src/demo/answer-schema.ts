import type { StandardSchemaV1 } from "@standard-schema/spec";

/**
 * The least a Standard Schema can be: a function that gives back the value it understood, or throws a sentence that says
 * what it would understand. Real agents use Zod, Valibot, ArkType or any other library that speaks Standard Schema.
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
