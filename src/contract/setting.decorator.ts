import { applyDecorators } from '@nestjs/common';
import { Transform, type TransformFnParams } from 'class-transformer';
import { ValidateBy } from 'class-validator';

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
