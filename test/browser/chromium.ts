import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';

/** The path that the environment names, or else the usual path on Debian and other systems. */
const PATHS = process.env.CHROMIUM_PATH
  ? [process.env.CHROMIUM_PATH]
  : ['/usr/bin/chromium', '/usr/bin/chromium-browser'];

export const HOW_TO_GET_CHROMIUM = `There is no Chromium here, so nothing was tested.
On Debian or Ubuntu: apt-get install --no-install-recommends chromium
Elsewhere: install Chromium or Chrome and name its program in CHROMIUM_PATH.`;

/** A name of a page's own site that leads to this machine: what DNS rebinding does. */
export const REBOUND_HOST = 'rebound.example';

/** What Playwright disables in Chromium on Linux. A switch of one's own replaces its switch. */
const DISABLED_BY_PLAYWRIGHT = [
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'AimEnabled',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'ThirdPartyStoragePartitioning',
];
/**
 * Each window of Chromium has web pages for the list under its address bar, which take half a second of processor time, and a process
 * for the next page.
 */
const NOT_NEEDED = [
  'SpareRendererForSitePerProcess',
  'WebUIOmniboxAimPopup',
  'WebUIOmniboxFullPopup',
  'WebUIOmniboxPopup',
];

/** The path of Chromium, or undefined if it is not installed. */
export function findChromium(): string | undefined {
  return PATHS.find((path) => existsSync(path));
}

export function launchChromium(executablePath: string): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      `--disable-features=${[...DISABLED_BY_PLAYWRIGHT, ...NOT_NEEDED].join(',')}`,
      `--host-resolver-rules=MAP ${REBOUND_HOST} 127.0.0.1`,
    ],
  });
}
