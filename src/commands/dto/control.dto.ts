import { IsDefined, IsIn, IsString, ValidateIf } from 'class-validator';

export const CONTROL_VERBS = ['interrupt', 'pause', 'resume', 'archive'] as const;

/** The body of a control command. */
export class ControlDto {
  static readonly fields = ['verb', 'reason'] as const;

  @IsDefined({ message: `is required: one of ${CONTROL_VERBS.join(', ')}` })
  @IsIn(CONTROL_VERBS, {
    message: `must be one of ${CONTROL_VERBS.join(', ')}`,
    context: { code: 'unknown_verb' },
  })
  verb: (typeof CONTROL_VERBS)[number];

  /** Free text. */
  @ValidateIf((dto: ControlDto) => dto.reason !== undefined)
  @IsString({ message: 'must be a string' })
  reason?: string;
}
