import { startViewer } from './viewer.ts';

/** Serves a viewer of `docs/openapi.json` until it is stopped, on a free port or the given one. */
const { url } = await startViewer(Number(process.argv[2] ?? 0));
process.stdout.write(`docs/openapi.json is shown at ${url} (Ctrl-C ends it)\n`);
