import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { manifestOf, WORKSPACES } from './workspaces.ts';

/** What the owner of the project fills once, in `metadata.json`. All other files repeat it. */
export interface Metadata {
  homepage: string;
  repository: string;
  /** The icon of the chart. */
  icon: string;
  /** An SPDX expression, or npm's word for none: `UNLICENSED`. */
  license: string;
  /** The first one is the author of the npm packages. */
  maintainers: { name: string; email: string; url: string }[];
}

const FILE = 'tools/release/metadata.json';
const CHART = 'helm/agent-gateway/Chart.yaml';
const PACKAGES = ['package.json', ...WORKSPACES.map(manifestOf)];
/** Reserved for examples (RFC 2606), so an address there is nobody's. */
const PLACEHOLDER = /\.example(?![\w.-])/;
const NO_LICENSE = 'UNLICENSED';

/** The metadata of the project. */
export function readMetadata(root: string): Metadata {
  return JSON.parse(readFileSync(join(root, FILE), 'utf8')) as Metadata;
}

/** Why a release must not be published yet, in one sentence, or undefined. */
export function unfinished(root: string): string | undefined {
  const metadata = readMetadata(root);
  const placeholders = Object.entries(metadata)
    .filter(([, value]) => PLACEHOLDER.test(JSON.stringify(value)))
    .map(([name]) => name);
  const missing =
    placeholders.length > 0
      ? [`${FILE} has placeholders (${placeholders.join(', ')}): fill them in`]
      : [];
  if (metadata.license === NO_LICENSE) {
    missing.push(
      `the license is the owner's to choose: name it in ${FILE}, and add a file LICENSE`,
    );
  } else if (!existsSync(join(root, 'LICENSE'))) {
    missing.push(`the text of ${metadata.license} is missing: add a file LICENSE`);
  }
  if (missing.length === 0) return undefined;
  return `${missing.join('; ')}; then run npm run release -- --set-metadata.`;
}

/** The files that say something else than `metadata.json`. Empty if all agree. */
export function strayMetadata(root: string): string[] {
  const metadata = readMetadata(root);
  return [...PACKAGES, CHART].filter((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    return withMetadata(file, text, metadata) !== text;
  });
}

/** Writes the metadata to every file that repeats it, and the licence's text beside each package. */
export function setMetadata(root: string): void {
  const metadata = readMetadata(root);
  for (const file of [...PACKAGES, CHART]) {
    const path = join(root, file);
    writeFileSync(path, withMetadata(file, readFileSync(path, 'utf8'), metadata));
  }
  const license = join(root, 'LICENSE');
  if (!existsSync(license)) return;
  for (const file of PACKAGES.slice(1)) copyFileSync(license, join(root, dirname(file), 'LICENSE'));
}

/** The labels of the image (OCI image specification, annotations). */
export function imageLabels({ homepage, repository, license, maintainers }: Metadata): string[] {
  const labels = {
    url: homepage,
    source: repository,
    ...(license !== NO_LICENSE && { licenses: license }),
    authors: maintainers.map(({ name, email }) => `${name} <${email}>`).join(', '),
  };
  return Object.entries(labels).map(([name, value]) => `org.opencontainers.image.${name}=${value}`);
}

function withMetadata(file: string, text: string, metadata: Metadata): string {
  return file === CHART ? chartWith(text, metadata) : packageWith(text, metadata);
}

function packageWith(
  text: string,
  { homepage, repository, license, maintainers: [author] }: Metadata,
): string {
  const { name, version, description, ...others } = JSON.parse(text) as Record<string, unknown>;
  for (const key of ['homepage', 'repository', 'license', 'author']) delete others[key];
  const described = {
    name,
    version,
    description,
    homepage,
    repository: { type: 'git', url: repository },
    license,
    ...(author && { author: `${author.name} <${author.email}>` }),
    ...others,
  };
  return `${JSON.stringify(described, undefined, 2)}\n`;
}

/** The lines from `home` to `icon` are the metadata. */
function chartWith(text: string, { homepage, repository, icon, maintainers }: Metadata): string {
  const lines = [
    `home: ${homepage}`,
    'sources:',
    `  - ${repository}`,
    'maintainers:',
    ...maintainers.flatMap(({ name, email, url }) => [
      `  - name: ${name}`,
      `    email: ${email}`,
      `    url: ${url}`,
    ]),
    `icon: ${icon}`,
  ];
  return text.replace(/^home: .*?^icon: [^\n]*$/ms, () => lines.join('\n'));
}
