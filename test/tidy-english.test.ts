// Phrases that are hard to understand for readers in a second language must not return (docs/contributing/glossary.md).
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..')
/** The glossary and this test quote the phrases; generated files are checked by their sources. Others are data. */
const EXCLUDED =
  /\.gen\.|\.out\.yaml$|\.(?:json|pem|crt|key|png)$|docs\/contributing\/glossary\.md|tidy-english\.test\.ts/
/** All files of the repository, by the top folder; files beside the folders are in `.`. */
const FILES = Map.groupBy(
  execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: ROOT, encoding: 'utf8' })
    .split('\n')
    .filter((file) => file !== '' && !EXCLUDED.test(file) && existsSync(join(ROOT, file))),
  (file) => (file.includes('/') ? (file.split('/', 1)[0] ?? '') : '.'),
)

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
  [/\b(?:any|some|every)body\b/i, 'any client, another owner, all users'],
  [/\bsays? why\b/i, 'report the reason'],
  // Helm reports "got string, want integer".
  [/(?<!\bgot .{1,20}, )\bwants?\b/i, 'require, need, expect'],
  [/\bgo(?:es)? on\b/i, 'continue'],
  [/\bknows? (?:nothing|no)\b/i, 'does not depend on, ignores'],
  [/\bsuffices? again\b/i, 'is back below the limit'],
]

function offences(files: readonly string[]): string[] {
  return files.flatMap((file) =>
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
  it('checks all folders', () => {
    expect([...FILES.keys()]).toEqual(expect.arrayContaining(['.', 'api', 'cli', 'docs', 'operator', 'proxy', 'test']))
  })

  it.each([...FILES])('%s has none of the phrases to avoid', (_, files) => {
    expect(offences(files)).toEqual([])
  })
})
