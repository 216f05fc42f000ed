import { expect, it } from "vitest";
import { alternativeNames, distinguishedName } from "./client-certificate.ts";

it("Separators within a name are escaped", () => {
  const subject = { C: "DE", O: "Acme, Inc.", OU: ["a", "b"], CN: " x=y,O=Evil\n" };
  expect(distinguishedName(subject as never)).toBe("C=DE,O=Acme\\, Inc.,OU=a,OU=b,CN=\\ x\\=y\\,O\\=Evil\\0a");
});

it("A name that contains separators is one name", () => {
  expect(alternativeNames('DNS:a.example, URI:"spiffe://a/, DNS:b.example", IP Address:127.0.0.1')).toEqual([
    "DNS:a.example",
    "URI:spiffe://a/, DNS:b.example",
    "IP Address:127.0.0.1",
  ]);
  expect(alternativeNames("")).toEqual([]);
});
