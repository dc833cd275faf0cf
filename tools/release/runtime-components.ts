import type { SystemPackage } from './oci-archive.ts';

/** A component of a CycloneDX bill. */
export interface Component {
  type: 'application' | 'library';
  'bom-ref': string;
  name: string;
  version: string;
  purl: string;
  cpe?: string;
  licenses: { expression: string }[] | { license: { name: string } }[];
}

/**
 * The licences of what is linked into the binary of Node, by its names in `process.versions`, as Node's LICENSE has them.
 */
const LICENSES: Readonly<Record<string, string>> = {
  acorn: 'MIT',
  ada: 'Apache-2.0 OR MIT',
  amaro: 'MIT',
  ares: 'MIT',
  brotli: 'MIT',
  cldr: 'Unicode-3.0',
  icu: 'Unicode-3.0',
  llhttp: 'MIT',
  nbytes: 'MIT',
  ncrypto: 'MIT',
  nghttp2: 'MIT',
  nghttp3: 'MIT',
  ngtcp2: 'MIT',
  node: 'MIT',
  openssl: 'Apache-2.0',
  simdjson: 'Apache-2.0 OR MIT',
  simdutf: 'Apache-2.0 OR MIT',
  sqlite: 'blessing',
  undici: 'MIT',
  unicode: 'Unicode-3.0',
  uv: 'MIT',
  uvwasi: 'MIT',
  v8: 'BSD-3-Clause',
  zlib: 'Zlib',
  zstd: 'BSD-3-Clause OR GPL-2.0-only',
};
/** Numbers of interfaces, not software. */
const NO_SOFTWARE: ReadonlySet<string> = new Set(['modules', 'napi']);
/** The names by which vulnerabilities are published. */
const CPE: Readonly<Record<string, string>> = {
  node: 'nodejs:node.js',
  openssl: 'openssl:openssl',
  sqlite: 'sqlite:sqlite',
  uv: 'libuv:libuv',
  nghttp2: 'nghttp2:nghttp2',
};

/** The licences of the libraries of the distribution, by source package (/usr/share/doc/…/copyright). */
const SYSTEM_LICENSES: Readonly<Record<string, string>> = {
  glibc: 'LGPL-2.1-or-later',
  'gcc-12': 'GPL-3.0-or-later WITH GCC-exception-3.1',
  'gcc-14': 'GPL-3.0-or-later WITH GCC-exception-3.1',
};

/** Node and what is linked into its binary. `versions` are `process.versions` of the same Node as the image's. */
export function nodeComponents(
  versions: Readonly<Record<string, string | undefined>>,
): Component[] {
  return Object.entries(versions).flatMap(([name, version]) => {
    if (version === undefined || version === '' || NO_SOFTWARE.has(name)) return [];
    const purl = `pkg:generic/${name}@${encodeURIComponent(version)}`;
    const cpe = CPE[name];
    return {
      type: name === 'node' ? 'application' : 'library',
      'bom-ref': purl,
      name,
      version,
      purl,
      ...(cpe !== undefined && { cpe: `cpe:2.3:a:${cpe}:${version}:*:*:*:*:*:*:*` }),
      licenses: licensed(LICENSES[name], "see Node's LICENSE"),
    } satisfies Component;
  });
}

/** The libraries of the distribution that Node links when it starts. */
export function systemComponents(packages: readonly SystemPackage[]): Component[] {
  return packages.map(({ name, version, source, architecture, distribution }) => {
    const id = `${encodeURIComponent(name)}@${encodeURIComponent(version)}`;
    const purl = `pkg:deb/debian/${id}?arch=${architecture}&distro=${distribution}&upstream=${source}`;
    return {
      type: 'library',
      'bom-ref': purl,
      name,
      version,
      purl,
      licenses: licensed(SYSTEM_LICENSES[source], `see /usr/share/doc/${name}/copyright`),
    };
  });
}

function licensed(expression: string | undefined, otherwise: string): Component['licenses'] {
  return expression === undefined ? [{ license: { name: otherwise } }] : [{ expression }];
}
