import { describe, expect, it } from '@jest/globals';
import { notesOf } from './notes.ts';

const CHANGELOG = `# Changelog

## [Unreleased]

## [1.2.0] - 2026-01-02

### Added

- A

## [1.1.0] - 2025-01-02

- B
`;

describe('the notes of a release', () => {
  it('are the section of its version', () => {
    expect(notesOf(CHANGELOG, '1.2.0')).toBe('### Added\n\n- A\n');
    expect(notesOf(CHANGELOG, '1.1.0')).toBe('- B\n');
  });

  it('are refused where there are none', () => {
    expect(() => notesOf(CHANGELOG, '1.3.0')).toThrow('has no section "## [1.3.0]"');
    expect(() => notesOf(CHANGELOG, '1.2')).toThrow('has no section');
    expect(() => notesOf(CHANGELOG, 'Unreleased')).toThrow('is empty');
  });
});
