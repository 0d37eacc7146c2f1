// Writes conformance-known.json and docs/cel-conformance.md from a run of the public cases.
import { writeFileSync } from 'node:fs'
import { EXCLUDED_SECTIONS } from './conformance/cases.ts'
import { justificationOf } from './conformance/justifications.ts'
import { type ConformanceResult, runConformance } from './conformance/run.ts'

function report({ failures, sections }: ConformanceResult): string {
  const rows = [...sections].map(
    ([name, { passed, total, skipped }]) =>
      `| ${name} | ${passed} | ${total} | ${percent(passed, total)} | ${skipped === 0 ? '' : skipped} |`,
  )
  const passed = sum([...sections.values()].map((section) => section.passed))
  const total = sum([...sections.values()].map((section) => section.total))
  return `# CEL conformance

Written by \`node api/cel/conformance-report.ts\`; do not edit. Cases: the public suite of the language
(npm \`@bufbuild/cel-spec\`). \`api/cel/conformance.test.ts\` fails when a case not listed here fails, and when a listed
one passes.

**${passed} of ${total} cases pass (${percent(passed, total)}).** "Out of scope" counts cases that need protobuf messages
or check static types only: expressions here work on plain values, and types are checked when an expression runs.

| section | pass | cases | rate | out of scope |
|---|---|---|---|---|
${rows.join('\n')}

## Sections left out

| section | why |
|---|---|
${Object.entries(EXCLUDED_SECTIONS)
  .map(([name, why]) => `| ${name} | ${why} |`)
  .join('\n')}

## Cases that fail

${failingGroups(failures)}
`
}

function failingGroups(failures: ReadonlyMap<string, string>): string {
  const groups = new Map<string, string[]>()
  for (const id of failures.keys()) {
    const why = justificationOf(id)
    groups.set(why, [...(groups.get(why) ?? []), id])
  }
  return [...groups].map(([why, ids]) => `${why}\n\n${ids.map((id) => `- \`${id}\``).join('\n')}`).join('\n\n')
}

function percent(part: number, whole: number): string {
  return `${((100 * part) / whole).toFixed(1)} %`
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

const result = runConformance()
const known = `${JSON.stringify([...result.failures.keys()], undefined, 2)}\n`
writeFileSync(new URL('conformance-known.json', import.meta.url), known)
writeFileSync(new URL('../../docs/cel-conformance.md', import.meta.url), report(result))
for (const [id, failure] of result.failures) console.log(`${id}: ${failure}`)
