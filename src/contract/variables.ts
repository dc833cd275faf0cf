/** Environment variables by their names. */
export type Variables = Record<string, string | undefined>;

/** Returns the text of a file, or throws an error with a code. */
export type ReadFile = (path: string) => string;
