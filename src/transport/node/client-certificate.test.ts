import { expect, it } from "vitest";
import { alternativeNames, distinguishedName } from "./client-certificate.ts";

it("What separates names is escaped within them", () => {
  const subject = { C: "DE", O: "Acme, Inc.", OU: ["a", "b"], CN: " x=y,O=Evil\n" };
  expect(distinguishedName(subject as never)).toBe("C=DE,O=Acme\\, Inc.,OU=a,OU=b,CN=\\ x\\=y\\,O\\=Evil\\0a");
});

it("A name that pretends to be several is one", () => {
  expect(alternativeNames('DNS:a.example, URI:"spiffe://a/, DNS:b.example", IP Address:127.0.0.1')).toEqual([
    "DNS:a.example",
    "URI:spiffe://a/, DNS:b.example",
    "IP Address:127.0.0.1",
  ]);
  expect(alternativeNames("")).toEqual([]);
});
