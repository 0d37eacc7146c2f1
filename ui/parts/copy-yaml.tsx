// Copies a value as YAML.
import { CopyButton } from './copy-button.tsx'

/** `name`: what is copied, such as `the fields`. */
export function CopyYaml({ name, value }: { readonly name: string; readonly value: unknown }) {
  const text = async (): Promise<string> => {
    const { yamlText } = await import('../yaml-text.ts')
    return yamlText(value)
  }
  return <CopyButton name={`${name} as YAML`} label="Copy as YAML" text={text} />
}
