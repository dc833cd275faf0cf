// The gateway's own, not the one that a package beside this brings along.
import { Pool } from '../../node_modules/undici/index.js';
import {
  HOP_BY_HOP,
  authorization,
  eachEndToEnd,
  listen,
  upstreamOrigin,
  upstreamTarget,
} from './front.js';

/** The least there can be: Node's own server, undici's dispatch, headers passed on as they came. */
const pool = new Pool(upstreamOrigin, {
  connections: null,
  pipelining: 1,
  headersTimeout: 0,
  bodyTimeout: 0,
});

listen((request, response) => {
  const headers = [];
  eachEndToEnd(request.rawHeaders, (name, value) => {
    if (value !== authorization) headers.push(name, value);
  });
  pool.dispatch(
    {
      method: request.method,
      path: upstreamTarget(request.url),
      headers,
      body: request.method === 'POST' ? request : undefined,
    },
    {
      onRequestStart(controller) {
        response.on('close', () => {
          if (!response.writableFinished) controller.abort(new Error('the client went away'));
        });
        response.on('drain', () => controller.resume());
      },
      onResponseStart(controller, status) {
        const raw = controller.rawHeaders;
        const passed = [];
        for (let at = 0; at < raw.length; at += 2) {
          const name = raw[at].toString('latin1');
          if (!HOP_BY_HOP.has(name.toLowerCase()))
            passed.push(name, raw[at + 1].toString('latin1'));
        }
        response.writeHead(status, passed);
      },
      onResponseData(controller, chunk) {
        if (!response.write(chunk)) controller.pause();
      },
      onResponseEnd() {
        response.end();
      },
      onResponseError() {
        if (response.headersSent) response.destroy();
        else response.writeHead(502).end();
      },
    },
  );
});
