import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Metadata } from './metadata.ts';

/** The origin of a release. */
export interface Origin {
  version: string;
  /** The commit. */
  revision: string;
  /** The image that the gateway's image is built on, with its tag. */
  baseImage: string;
}

/** What a release hands out: the image, the chart, the packages. */
const ARTIFACT = /\.(?:tgz|oci\.tar)$/;

/**
 * Writes `NAME.intoto.jsonl` beside each artifact: an in-toto statement with SLSA's provenance of version 1. It says of which
 * commit the artifact was made. Whoever trusts the signature of `SHA256SUMS` can trust it.
 */
export function writeProvenance(out: string, origin: Origin, metadata: Metadata): void {
  for (const name of readdirSync(out).filter((file) => ARTIFACT.test(file))) {
    const sha256 = sha256Of(join(out, name));
    const statement = {
      _type: 'https://in-toto.io/Statement/v1',
      subject: [{ name, digest: { sha256 } }],
      predicateType: 'https://slsa.dev/provenance/v1',
      predicate: predicateOf(origin, metadata),
    };
    writeFileSync(join(out, `${name}.intoto.jsonl`), `${JSON.stringify(statement)}\n`);
  }
}

/** The SHA-256 of a file, in hex. */
export function sha256Of(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

function predicateOf({ version, revision, baseImage }: Origin, metadata: Metadata): object {
  const { homepage, repository } = metadata;
  return {
    buildDefinition: {
      buildType: `${homepage}/release/v1`,
      externalParameters: { version, command: 'npm run release' },
      resolvedDependencies: [
        { uri: `git+${repository}`, digest: { gitCommit: revision } },
        { uri: `docker://${baseImage}` },
      ],
    },
    // The machine of whoever ran the command: there is no build service that could vouch for more.
    runDetails: { builder: { id: `${homepage}/release/by-hand` } },
  };
}
