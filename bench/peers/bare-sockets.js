import { connect } from 'node:net';
import { HTTPParser } from 'node:_http_common';
import {
  authorization,
  clientHeaders,
  eachEndToEnd,
  listen,
  upstreamOrigin,
  upstreamTarget,
  writeHead,
} from './front.js';

/** The least there can be without a client library: Node's own server, sockets, and Node's own parser. */
const { hostname, port, host } = new URL(upstreamOrigin);
const idle = [];

listen((request, response) => {
  let text = `GET ${upstreamTarget(request.url)} HTTP/1.1\r\nhost: ${host}\r\n`;
  eachEndToEnd(request.rawHeaders, (name, value) => {
    if (value !== authorization) text += `${name}: ${value}\r\n`;
  });
  const connection = idle.pop() ?? opened();
  connection.response = response;
  connection.socket.write(`${text}\r\n`, 'latin1');
});

function opened() {
  const buffer = Buffer.allocUnsafeSlow(65_536);
  const parser = new HTTPParser();
  const connection = { response: undefined };
  const callback = (length) => {
    if (parser.execute(buffer.subarray(0, length)) instanceof Error) connection.socket.destroy();
    return true;
  };
  connection.socket = connect({
    host: hostname,
    port,
    noDelay: true,
    onread: { buffer, callback },
  });
  connection.socket.on('error', () => undefined);
  connection.socket.on('close', () => connection.response?.destroy());
  parser.initialize(HTTPParser.RESPONSE, connection);
  parser[HTTPParser.kOnHeadersComplete] = (_major, _minor, headers, _method, _url, status) => {
    writeHead(connection.response, status, clientHeaders(headers));
    return 0;
  };
  parser[HTTPParser.kOnBody] = (chunk) => {
    connection.response.write(chunk);
  };
  parser[HTTPParser.kOnMessageComplete] = () => {
    connection.response.end();
    connection.response = undefined;
    idle.push(connection);
  };
  return connection;
}
