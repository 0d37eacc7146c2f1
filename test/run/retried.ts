// Lists the tests that passed only on retry, at the end of a run: among thousands of lines they are easy to miss.
import type { Reporter, TestModule } from 'vitest/node'

/** The parts of a module that the reporter reads. */
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

/** A line for each test with its first error, which has the seed of a property; empty without such tests. */
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
