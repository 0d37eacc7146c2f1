// Fields of forms, each with its label.
import { useId } from 'preact/hooks'

export interface FieldProps {
  readonly label: string
  readonly value: string
  readonly placeholder?: string
  readonly onValue: (value: string) => void
}

export interface TextFieldProps extends FieldProps {
  /** Not shown, and not kept by the browser. */
  readonly isSecret?: boolean
  /** Takes the room that is left, for URLs. */
  readonly isLong?: boolean
  /** Offered while the user types. */
  readonly options?: readonly string[]
}

export function TextField({
  label,
  value,
  placeholder,
  onValue,
  isSecret = false,
  isLong = false,
  options,
}: TextFieldProps) {
  const list = useId()
  const shared = {
    class: 'mono',
    autocomplete: 'off',
    spellcheck: false,
    value,
    placeholder,
    onInput: ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => onValue(currentTarget.value),
  }
  return (
    <label class={isLong ? 'address' : undefined}>
      {label}
      {isSecret ? <input type="password" {...shared} /> : <input type="text" list={options && list} {...shared} />}
      {options !== undefined && (
        <datalist id={list}>
          {options.map((option) => (
            <option key={option} value={option} />
          ))}
        </datalist>
      )}
    </label>
  )
}

/** Over the whole width. */
export function TextArea({ label, value, placeholder, onValue, rows }: FieldProps & { readonly rows: number }) {
  return (
    <label class="wide">
      {label}
      <textarea
        class="mono"
        rows={rows}
        spellcheck={false}
        value={value}
        placeholder={placeholder}
        onInput={({ currentTarget }) => onValue(currentTarget.value)}
      />
    </label>
  )
}

/** The label is beside the field: names of options inside it would be part of its name. */
export function Choice({ label, value, options, onValue }: FieldProps & { readonly options: readonly string[] }) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={({ currentTarget }) => onValue(currentTarget.value)}>
        {options.map((option) => (
          <option key={option}>{option}</option>
        ))}
      </select>
    </div>
  )
}
