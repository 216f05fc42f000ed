import type { RestFamily, RestRoute, RootAgent } from "../../wire/codec.ts";
import { answerCall } from "../call/answer-call.ts";
import type { Endpoint } from "../endpoint.ts";
import { strayRefusal } from "../jsonrpc/refusal.ts";
import { createRoute, type Handler, type Mount, type NamedRoutes, type Route } from "../router.ts";
import { namesIn, PathTree } from "./path-tree.ts";
import { REST_PRESENTER } from "./presenter.ts";
import { restRefusal } from "./refusal.ts";
import { RestCall } from "./rest-call.ts";

/** The REST routes of every family. `mountChosen` mounts the agent that a family chooses at the root. An unknown path is answered by the family whose paths begin with the same segment. */
export function createRestRoutes(endpoint: Endpoint, mountChosen: (choice: RootAgent) => Mount): NamedRoutes {
  const plain = new PathTree<Route>();
  const tenanted = new PathTree<Route>();
  const notFoundRoutes = new Map<string, Route>();
  const { restFamilies } = endpoint.dialects;
  for (const family of restFamilies) {
    const rootMount = family.rootAgent && mountChosen(family.rootAgent);
    const missing = createRoute(new Map(), { refuse: restRefusal(family) });
    for (const routes of Map.groupBy(family.routes, ({ path }) => path.replaceAll(/\{\w+\}/g, "{}")).values()) {
      addRoutes(plain, routes, routeOf(endpoint, { family, routes, leading: [], rootMount }));
      if (family.tenants)
        addRoutes(tenanted, routes, routeOf(endpoint, { family, routes, leading: ["tenant"], rootMount }));
      notFoundRoutes.set(routes[0]?.path.split("/")[1] ?? "", missing);
    }
  }
  const [first] = restFamilies;
  const refuse = first === undefined ? strayRefusal(endpoint.dialects) : restRefusal(first);
  const standard = createRoute(new Map(), { refuse });
  return { plain, tenanted, notFound: (segment) => notFoundRoutes.get(segment) ?? standard };
}

interface Place {
  readonly family: RestFamily;
  /** Routes with the same path, apart from the names of its parameters. */
  readonly routes: readonly RestRoute[];
  /** Names of parameters before those of the path. */
  readonly leading: readonly string[];
  /** As in {@link Route}. */
  readonly rootMount: Mount | undefined;
}

function routeOf(endpoint: Endpoint, { family, routes, leading, rootMount }: Place): Route {
  const handlers = routes.map(({ method, path, operation }): [string, Handler] => {
    const names = [...leading, ...namesIn(path)];
    return [
      method,
      (exchange, { mount, captured }) =>
        answerCall(
          endpoint,
          new RestCall(exchange, { service: mount(exchange), family, operation, names, captured }),
          REST_PRESENTER,
        ),
    ];
  });
  return createRoute(new Map(handlers), { refuse: restRefusal(family), rootMount });
}

function addRoutes(tree: PathTree<Route>, [route]: readonly RestRoute[], made: Route): void {
  if (route === undefined) return;
  if (tree.at(route.path, () => made) !== made) throw new TypeError(`Two REST families have the path ${route.path}.`);
}
