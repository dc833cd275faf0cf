/*
 * The parts of SQL that a client's own clause may use: those that Electric 1.4 to 1.7 itself computes (its
 * `known_functions.ex`), and those that `@electric-sql/client` writes. All of them depend only on their arguments.
 *
 * A fallible part can fail for some values: a division by zero, an overflow, a text that is no number. PostgreSQL may
 * apply it to rows of other tenants before it applies the fence, because it chooses the order of conditions. The error
 * would then reveal the values of those rows. So a fallible part may be applied only to constants.
 */

const words = (list: string): ReadonlySet<string> => new Set(list.trim().split(/\s+/));

/** Operators that bind less tightly than all operators below. */
export const COMPARISONS = words('= <> != < > <= >=');

export const KNOWN_OPERATORS = words('@> <@ &&');

export const FALLIBLE_OPERATORS = words('+ - * / % ^ || & | #');

/** A pattern that ends with a backslash fails, depending on the value that it is matched with. */
export const PATTERN_OPERATORS = words('~~ ~~* !~~ !~~*');

export const FALLIBLE_PREFIXES = words('+ - ~ @ |/');

/** Words between two values. They bind less tightly than operators. Of two with the same beginning the longer one comes first. */
export const KNOWN_JOINTS: readonly (readonly string[])[] = [
  ['and'],
  ['or'],
  ['between', 'symmetric'],
  ['between'],
  ['not', 'between', 'symmetric'],
  ['not', 'between'],
  ['is', 'distinct', 'from'],
  ['is', 'not', 'distinct', 'from'],
];

export const PATTERN_JOINTS: readonly (readonly string[])[] = [
  ['like'],
  ['not', 'like'],
  ['ilike'],
  ['not', 'ilike'],
];

export const FALLIBLE_JOINTS: readonly (readonly string[])[] = [['at', 'time', 'zone']];

export const KNOWN_FUNCTIONS = words(
  'lower upper length concat coalesce greatest least array_ndims text',
);

/** With a second argument `length` reads an encoding and can fail. */
export const FUNCTIONS_OF_ONE = words('lower upper length array_ndims text');

export const FALLIBLE_FUNCTIONS = words(
  `like ilike timezone array_append array_cat array_prepend
   justify_days justify_hours justify_interval
   bool date float4 float8 int2 int4 int8 numeric timestamptz uuid`,
);

/** Types of one word; a zone may follow `time` and `timestamp`. */
export const KNOWN_TYPES = words(
  `bigint bool boolean bytea date decimal float4 float8 int int2 int4 int8 integer interval json jsonb
   numeric real smallint text time timestamp timestamptz timetz uuid varchar`,
);

/** Every value can be cast to these. */
export const INFALLIBLE_TYPES = words('text varchar');

export const KNOWN_LONG_TYPES: readonly (readonly string[])[] = [
  ['double', 'precision'],
  ['character', 'varying'],
];
