// At the end of a run: which tests passed only when they were tried once more. Among thousands of lines
// nobody sees them.
import type { Reporter, TestModule } from 'vitest/node'

/** What the reporter reads of a module. */
export type Finished = Pick<TestModule, 'relativeModuleId'> & {
  readonly children: { allTests(): Iterable<Retried> }
}

interface Retried {
  readonly fullName: string
  diagnostic(): { readonly flaky: boolean } | undefined
  result(): { readonly errors?: readonly { readonly message: string }[] | undefined }
}

export class RetriedReporter implements Reporter {
  onTestRunEnd(modules: readonly Finished[]): void {
    const text = describeRetried(modules)
    if (text !== '') process.stdout.write(text)
  }
}

/** A line for each with the first error, where a property names its seed; empty when there is none. */
export function describeRetried(modules: readonly Finished[]): string {
  const lines: string[] = []
  for (const { relativeModuleId, children } of modules) {
    for (const test of children.allTests()) {
      if (test.diagnostic()?.flaky !== true) continue
      lines.push(`  ${relativeModuleId} > ${test.fullName}`)
      const first = test.result().errors?.[0]?.message.split('\n').slice(0, ERROR_LINES) ?? []
      lines.push(...first.map((line) => `      ${line}`))
    }
  }
  if (lines.length === 0) return ''
  return ['', 'Passed only on retry; each is a fault of the code or of its test:', ...lines, ''].join('\n')
}

const ERROR_LINES = 4
