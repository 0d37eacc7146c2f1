// Phrases that are hard to understand for readers in a second language must not return (docs/contributing/glossary.md).
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..')
/** The glossary and this test quote the phrases. Texts that are not ours: data of other projects, lock files. */
const EXCLUDED = /node_modules|\.gen\.|docs\/contributing\/glossary\.md|tidy-english\.test\.ts|\.out\.yaml$/

const PHRASES: readonly (readonly [phrase: RegExp, instead: string])[] = [
  [/\b(?:tells?|told|telling)\b/i, 'report, log, name'],
  [/\b(?:says?|said) so\b/i, 'report, log'],
  [/\bbears?\b/i, 'has, contains'],
  [/\bspeaks? of\b/i, 'mention, name'],
  [/(?<!\bthere )\b(?:is|are|be|was|were) none\b/i, 'has no …, does not exist, is not a …'],
  [/(?<!\bthere )\b(?:is|are) no (?:JSON|YAML|UTF-8|[a-z]+)(?=[.,;:)'"`\n]|$)/, 'is not a …, is not valid …'],
  [/\bof before\b/i, 'previous'],
  [/\bmade of\b/i, 'derived from, built from'],
  [/\bin vain\b/i, 'without effect'],
  [/\banew\b/i, 'again'],
  [/\bbeforehand\b/i, 'first'],
  [/\bnobody\b/i, 'no client, no code, nothing'],
  [/\bwants?\b/i, 'require, need, expect'],
  [/\bgo(?:es)? on\b/i, 'continue'],
  [/\bknows? (?:nothing|no)\b/i, 'does not depend on, ignores'],
  [/\bsuffices? again\b/i, 'is back below the limit'],
]

function offences(pattern: string): string[] {
  return globSync(pattern, { cwd: ROOT, exclude: (name) => /node_modules|\.cache/.test(name) })
    .filter((file) => !EXCLUDED.test(file))
    .flatMap((file) =>
      readFileSync(join(ROOT, file), 'utf8')
        .split('\n')
        .flatMap((line, index) =>
          PHRASES.filter(([phrase]) => phrase.test(line)).map(
            ([, instead]) => `${file}:${index + 1}: ${line.trim().slice(0, 120)} (write: ${instead})`,
          ),
        ),
    )
}

describe('plain English', () => {
  // docs/cli.md and docs/security.md quote output and names of tests that still have some of the phrases.
  it.each([
    'README.md',
    'CHANGELOG.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    'docs/!(cli|security).md',
    'docs/{adr,contributing,policies}/*.md',
    'api/**/*.{ts,yaml}',
    'cli/**/*.ts',
    'bench/**/*.ts',
    'proxy/**/*.ts',
    'test/conformance/**/*.ts',
    'codegen/**/*.ts',
    'hack/**/*.ts',
    'operator/**/*.{ts,yaml}',
    'deployer/**/*.{ts,yaml}',
    'config/**/*.yaml',
  ])('%s has none of the phrases to avoid', (place) => {
    expect(offences(place)).toEqual([])
  })
})
