import { expect, it } from "vitest";
import { postgresAddress } from "./postgres-address.ts";

it("An address has a schema, and a text for people without the password", () => {
  expect(postgresAddress("postgres://ann:pass@db.example:5433/tasks", {})).toEqual({
    url: "postgres://ann:pass@db.example:5433/tasks",
    schema: "palaver",
    text: "PostgreSQL at db.example:5433/tasks, schema palaver",
  });
  expect(postgresAddress("postgresql://db.example/tasks?schema=mine&sslmode=require", {})).toEqual({
    url: "postgresql://db.example/tasks?sslmode=require",
    schema: "mine",
    text: "PostgreSQL at db.example/tasks, schema mine",
  });
});

it("postgres: alone uses DATABASE_URL", () => {
  const environment = { DATABASE_URL: "postgres://db.example/tasks" };
  expect(postgresAddress("postgres:", environment)?.url).toBe("postgres://db.example/tasks");
  expect(() => postgresAddress("postgres:", {})).toThrow("needs the address of the database in DATABASE_URL");
});

it("An invalid address is refused with a message that does not contain the password", () => {
  for (const spec of ["postgres://ann:secret@db.example:port/tasks", "postgres://ann:secret@[db/tasks"]) {
    expect(() => postgresAddress(spec, {})).toThrow(/is not a valid address/);
    expect(() => postgresAddress(spec, {})).not.toThrow(/secret/);
  }
  expect(() => postgresAddress("postgres:", { DATABASE_URL: "mysql://db.example" })).toThrow(/DATABASE_URL is not/);
});

it("Other stores are not PostgreSQL", () => {
  expect(postgresAddress("sqlite:a.db", {})).toBeUndefined();
});
