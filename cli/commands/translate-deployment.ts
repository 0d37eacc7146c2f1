// gw translate --deployment: the objects the operator would create for each Gateway, overlays applied, without a
// cluster. The session key is the cluster's: its Secret is not shown.
import { printable } from '#api/printable.ts'
import type { KubeObject } from '#deployer/kube-object.ts'
import { loadDeployment } from '../deployment.ts'
import { dataText, printError, yamlText } from '../output.ts'
import { formatProblems, hasErrors } from '../report.ts'

export async function deploymentCommand(options: {
  readonly file: string
  readonly output: 'yaml' | 'json'
}): Promise<number> {
  const result = await loadDeployment(options.file)
  if ('problem' in result) {
    printError(printable(result.problem))
    return 1
  }
  if (result.problems.length > 0) printError(formatProblems(result.problems))
  if (result.objects.length > 0) process.stdout.write(print(result.objects, options.output))
  return hasErrors(result.problems) ? 1 : 0
}

/** As kubectl takes it. */
function print(objects: readonly KubeObject[], output: 'yaml' | 'json'): string {
  if (output === 'json') return dataText({ apiVersion: 'v1', kind: 'List', items: objects }, 'json')
  return objects.map((object) => yamlText(object)).join('---\n')
}
