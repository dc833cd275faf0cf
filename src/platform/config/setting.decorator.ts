import { applyDecorators } from '@nestjs/common';
import { plainToInstance, Transform, type TransformFnParams } from 'class-transformer';
import { ValidateBy, validateSync } from 'class-validator';

/** Environment variables by their names. */
export type Variables = Record<string, string | undefined>;

/** The settings that a class declares, with its defaults for those without a text. `refuse` learns of each wrong one. */
export function settingsFrom<Settings extends object>(
  declared: new () => Settings,
  textOf: (setting: string) => string | undefined,
  refuse: (setting: string, problem: string) => void,
): Settings {
  const texts = Object.keys(new declared()).map((setting) => [setting, textOf(setting)] as const);
  const given = Object.fromEntries(texts.filter(([, text]) => text !== undefined));
  const settings = plainToInstance(declared, given, { exposeDefaultValues: true });
  for (const { property, constraints = {} } of validateSync(settings)) {
    refuse(property, Object.values(constraints).join(', '));
  }
  return settings;
}

/**
 * A setting whose text one function parses and checks. The function returns undefined for a wrong text, which stops the
 * start with the message. A value that is a text must parse to itself.
 */
export function Setting(message: string, parse: (text: string) => unknown): PropertyDecorator {
  return applyDecorators(
    Transform(({ value }: TransformFnParams): unknown =>
      typeof value === 'string' ? (parse(value) ?? value) : value,
    ),
    ValidateBy({
      name: 'setting',
      validator: {
        // Anything else was parsed already, or is a default.
        validate: (value) => typeof value !== 'string' || parse(value) !== undefined,
        defaultMessage: () => message,
      },
    }),
  );
}

/**
 * A whole-number setting in plain digits. `1e3`, `0x10` and `5.0` are refused, because they are more likely a
 * mistake than intended.
 */
export function WholeNumber(min: number, max: number): PropertyDecorator {
  return Setting(`must be a whole number from ${min} to ${max}`, (text) => {
    const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    return number >= min && number <= max ? number : undefined;
  });
}

/** A boolean setting. Only `true` and `false` are valid, not `0` or `1`. */
export function TrueOrFalse(): PropertyDecorator {
  return Setting('must be true or false', (text) =>
    text === 'true' || text === 'false' ? text === 'true' : undefined,
  );
}
