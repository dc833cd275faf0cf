import { applyDecorators } from '@nestjs/common';
import { Transform, type TransformFnParams } from 'class-transformer';
import { ValidateBy } from 'class-validator';
import { isIpNet } from '../platform/http/ip-nets.ts';
import { isExactOrigin } from './exact-origin.ts';

/** A list, or `*` for everything. */
export type ListOrAll = '*' | string[];

/** The origins of pages, or `*` for all. */
export function OriginList(): PropertyDecorator {
  return list({
    name: 'isOriginList',
    isAll: (_entries, text) => text.trim() === '*',
    isEntry: isExactOrigin,
    message:
      'must be * or comma-separated exact origins such as ' +
      'https://app.example (lower case, no path, no trailing slash, no default port)',
  });
}

/** The names of tables, or `*` for all. */
export function TableList(): PropertyDecorator {
  return list({
    name: 'isTableList',
    isAll: (entries) => entries.includes('*'),
    isEntry: () => true,
    message: 'must be comma-separated table names, or * for all',
  });
}

/** IP addresses and nets. */
export function NetList(): PropertyDecorator {
  return list({
    name: 'isNetList',
    isAll: () => false,
    isEntry: isIpNet,
    message:
      'must be comma-separated addresses or nets such as 10.0.0.0/8 or fd00::/8, never all addresses',
  });
}

interface ListRules {
  name: string;
  /** `text` is the setting as it stands. */
  isAll: (entries: string[], text: string) => boolean;
  isEntry: (entry: string) => boolean;
  message: string;
}

/** Entries between commas. Spaces around them and empty entries do not count; there must be one entry. */
function list({ name, isAll, isEntry, message }: ListRules): PropertyDecorator {
  const parse = (text: string): ListOrAll => {
    const entries = text
      .split(',')
      .map((entry) => entry.trim())
      .filter((entry) => entry !== '');
    return isAll(entries, text) ? '*' : entries;
  };
  return applyDecorators(
    Transform(({ value }: TransformFnParams): unknown =>
      typeof value === 'string' ? parse(value) : value,
    ),
    ValidateBy({
      name,
      validator: {
        validate: (value: ListOrAll) =>
          value === '*' || (value.length > 0 && value.every((entry) => isEntry(entry))),
        defaultMessage: () => message,
      },
    }),
  );
}
