import { accessSync, constants } from 'node:fs';

/** The programs of other projects that the bench runs. */
export const PROGRAMS = {
  nginx: {
    variable: 'NGINX_PATH',
    debian: 'nginx-light',
    paths: ['/usr/sbin/nginx', '/usr/local/sbin/nginx'],
  },
  haproxy: {
    variable: 'HAPROXY_PATH',
    debian: 'haproxy',
    paths: ['/usr/sbin/haproxy', '/usr/local/sbin/haproxy'],
  },
  wrk: { variable: 'WRK_PATH', debian: 'wrk', paths: ['/usr/bin/wrk', '/usr/local/bin/wrk'] },
} as const;
export type ProgramName = keyof typeof PROGRAMS;

/** The path that the environment names, or else the usual path on Debian and other systems. */
export function findProgram(name: ProgramName): string | undefined {
  const { variable, paths } = PROGRAMS[name];
  const named = process.env[variable];
  return (named ? [named] : paths).find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** Like `findProgram`, for a program that is known to be installed. */
export function programPath(name: ProgramName): string {
  const path = findProgram(name);
  if (path === undefined) throw new Error(howToGet(name));
  return path;
}

export function missingProgram(name: ProgramName): string | undefined {
  return findProgram(name) === undefined ? howToGet(name) : undefined;
}

function howToGet(name: ProgramName): string {
  const { variable, debian } = PROGRAMS[name];
  return `there is no ${name}: apt-get install --no-install-recommends ${debian}, or name it in ${variable}`;
}
