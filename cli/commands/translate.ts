// gw translate: the configuration of proxies and the statuses that the operator would write. It never prints secrets.
import { printable } from '#api/printable.ts'
import { redactTree } from '#api/credentials/redact-tree.ts'
import { dataText, printError } from '../output.ts'
import { boundedProblems, hasErrors, printProblems } from '../report.ts'
import { loadSource, type LoadedSource } from '../source.ts'

export async function translateCommand(options: {
  readonly file: string
  readonly output: 'yaml' | 'json'
  readonly deployment?: boolean
}): Promise<number> {
  if (options.deployment === true) {
    const { deploymentCommand } = await import('./translate-deployment.ts')
    return deploymentCommand(options)
  }
  const source = await loadSource(options.file)
  if ('problem' in source) {
    printError(printable(source.problem))
    return 1
  }
  printProblems(boundedProblems(source.problems))
  const output = outputOf(source)
  if (output === undefined) return 1
  // Hide credentials that users wrote into plain fields.
  const result = redactTree(output)
  process.stdout.write(dataText(result, options.output))
  return hasErrors(source.problems) ? 1 : 0
}

function outputOf({ rendered, translation }: LoadedSource): unknown {
  if (rendered === undefined) return undefined
  if (translation === undefined) return { config: rendered.config, secretKeys: keysOf(rendered.secrets) }
  return {
    gateways: [...translation.perGateway].map(([gateway, { config, secrets }]) => ({
      gateway,
      config,
      secretKeys: keysOf(secrets),
    })),
    statuses: translation.statuses,
  }
}

function keysOf({ secrets }: { readonly secrets: readonly { readonly key: string }[] }): string[] {
  return secrets.map(({ key }) => key)
}
