export const INFO = {
  title: 'Agent gateway',
  summary: 'The one HTTP front door of a system that hosts long-lived AI agents.',
  description:
    'Back ends spawn agents and send them messages, browsers watch them live, operators register ' +
    'deployments.\n\n' +
    'Commands are one-way durable sends, answered 202. Streams, shapes and the registry are passed ' +
    'on: `/streams` to a [Durable Streams](https://github.com/durable-streams/durable-streams) ' +
    "store, `/shapes` to [Electric](https://electric-sql.com), `/registry` to [Restate](https://restate.dev)'s " +
    'admin API. Their own documents rule there; what this one says of them is what clients need.\n\n' +
    "Every error of the gateway's own is `application/problem+json` with a stable `code`; each " +
    'operation lists its codes. Any path or method that is not here is 404 `route_not_found`.',
};

export const SERVERS = [
  {
    url: '{scheme}://{authority}',
    description: 'Wherever it is; the system on one machine by default.',
    variables: {
      scheme: { enum: ['http', 'https'], default: 'http' },
      authority: { default: 'localhost:8787', description: 'Host, and port where it needs one.' },
    },
  },
];

export const TAGS = [
  {
    name: 'Commands',
    description: 'One-way durable sends into Restate. What they lead to is read from the timeline.',
  },
  {
    name: 'Streams',
    description: 'Timelines: the Durable Streams protocol, byte for byte in both directions.',
    externalDocs: {
      url: 'https://github.com/durable-streams/durable-streams/blob/main/PROTOCOL.md',
      description: 'The protocol',
    },
  },
  {
    name: 'Shapes',
    description: 'The live catalog of agents, from Electric.',
    externalDocs: {
      url: 'https://electric-sql.com/docs/api/http',
      description: "Electric's HTTP API",
    },
  },
  {
    name: 'Registry',
    description: "Restate's admin API, to register deployments.",
    externalDocs: {
      url: 'https://docs.restate.dev',
      description: "Restate's documentation",
    },
  },
  { name: 'Health', description: 'Liveness.' },
];

export const SECURITY_SCHEMES = {
  apiKey: {
    type: 'http',
    scheme: 'bearer',
    description:
      'For servers: an API key of the deployment. It opens what its scopes and paths say; without scopes, everything.',
  },
  readToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      'For browsers: a short-lived token that opens GET and HEAD of the paths below its prefix.',
  },
};
