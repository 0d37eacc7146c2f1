// Field paths of a standalone file: `routes[0].policies.cors`, `headers["x.y"]`.

const PLAIN_NAME = /^[A-Za-z_][\w-]*$/

export function pathTo(base: string, ...parts: readonly PropertyKey[]): string {
  let path = base
  for (const part of parts) {
    if (typeof part === 'number') path += `[${part}]`
    else if (PLAIN_NAME.test(String(part))) path += path === '' ? String(part) : `.${String(part)}`
    else path += `["${String(part)}"]`
  }
  return path
}
