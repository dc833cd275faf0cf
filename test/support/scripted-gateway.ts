import { beforeEach } from '@jest/globals';
import { forAllTests } from './for-this-test.ts';
import { startTestGateway, type TestGateway } from './gateway.ts';
import { everyUpstream } from './nobody.ts';
import { startScriptedUpstream, type Script, type ScriptedUpstream } from './scripted-upstream.ts';

type Settings = Record<string, string>;

/** A gateway for the tests of a file or a `describe`; it has no property before they begin. Each test begins with an empty log. */
export function testGateway(
  settings: () => Settings | Promise<Settings> = () => ({}),
): TestGateway {
  const gateway = forAllTests(async () => startTestGateway(await settings()));
  beforeEach(() => void (gateway.logLines.length = 0));
  return gateway;
}

/** An upstream for the same tests. Each begins with one that has seen nothing. */
export function scriptedUpstream(script: Script): ScriptedUpstream {
  const upstream = forAllTests(() => startScriptedUpstream(script));
  beforeEach(() => void (upstream.seen.length = 0));
  return upstream;
}

/** Both, where the one upstream is all four of the gateway, unless a setting names another. */
export function scriptedGateway(
  script: Script,
  settings: (upstreamUrl: string) => Settings = () => ({}),
): { gateway: TestGateway; upstream: ScriptedUpstream } {
  const upstream = scriptedUpstream(script);
  const gateway = testGateway(() => ({
    ...everyUpstream(upstream.url),
    ...settings(upstream.url),
  }));
  return { gateway, upstream };
}

/** The log of a gateway so far, parsed. */
export function logOf({ logLines }: TestGateway): Record<string, unknown>[] {
  return logLines.map((line) => JSON.parse(line) as Record<string, unknown>);
}
