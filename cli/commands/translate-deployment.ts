// gw translate --deployment: the objects that the operator would create for each Gateway, with overlays, without a
// cluster. The Secret with the session key is not shown: only a cluster has the key.
import { printable } from '#api/printable.ts'
import type { KubeObject } from '#deployer/kube-object.ts'
import { loadDeployment } from '../deployment.ts'
import { dataText, printError, yamlText } from '../output.ts'
import { hasErrors, printProblems } from '../report.ts'

export async function deploymentCommand(options: {
  readonly file: string
  readonly output: 'yaml' | 'json'
}): Promise<number> {
  const result = await loadDeployment(options.file)
  if ('problem' in result) {
    printError(printable(result.problem))
    return 1
  }
  printProblems(result.problems)
  if (result.objects.length > 0) process.stdout.write(print(result.objects, options.output))
  return hasErrors(result.problems) ? 1 : 0
}

/** In the form that kubectl accepts. */
function print(objects: readonly KubeObject[], output: 'yaml' | 'json'): string {
  if (output === 'json') return dataText({ apiVersion: 'v1', kind: 'List', items: objects }, 'json')
  return objects.map((object) => yamlText(object)).join('---\n')
}
