/*
 * What a client's own clause may use: what Electric itself computes, in 1.4 to 1.7 (its
 * `known_functions.ex`), and what `@electric-sql/client` writes. All of it looks at nothing but its
 * arguments.
 */

const words = (list: string): ReadonlySet<string> => new Set(list.trim().split(/\s+/));

/** Words between two values. */
export const KNOWN_OPERATORS = words(
  '= <> != < > <= >= + - * / % ^ || & | # ~~ ~~* !~~ !~~* @> <@ &&',
);

/** Words before a value. */
export const KNOWN_PREFIXES = words('+ - ~ @ |/');

/** Operators between two values. Of two with the same beginning the longer one comes first. */
export const KNOWN_JOINTS: readonly (readonly string[])[] = [
  ['and'],
  ['or'],
  ['like'],
  ['not', 'like'],
  ['ilike'],
  ['not', 'ilike'],
  ['between', 'symmetric'],
  ['between'],
  ['not', 'between', 'symmetric'],
  ['not', 'between'],
  ['is', 'distinct', 'from'],
  ['is', 'not', 'distinct', 'from'],
  ['at', 'time', 'zone'],
];

export const KNOWN_FUNCTIONS = words(
  `lower upper length concat coalesce greatest least like ilike timezone
   array_append array_cat array_ndims array_prepend
   justify_days justify_hours justify_interval
   bool date float4 float8 int2 int4 int8 numeric text timestamptz uuid`,
);

/** Types of one word; a zone may follow `time` and `timestamp`. */
export const KNOWN_TYPES = words(
  `bigint bool boolean bytea date decimal float4 float8 int int2 int4 int8 integer interval json jsonb
   numeric real smallint text time timestamp timestamptz timetz uuid varchar`,
);

export const KNOWN_LONG_TYPES: readonly (readonly string[])[] = [
  ['double', 'precision'],
  ['character', 'varying'],
];
