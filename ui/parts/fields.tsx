// Fields of forms, each with its label.
export interface FieldProps {
  readonly label: string
  readonly value: string
  readonly placeholder?: string
  readonly onValue: (value: string) => void
}

/** `isSecret`: not shown, and not kept by the browser. */
export function TextField({
  label,
  value,
  placeholder,
  onValue,
  isSecret = false,
}: FieldProps & { readonly isSecret?: boolean }) {
  const shared = {
    class: 'mono',
    autocomplete: 'off',
    spellcheck: false,
    value,
    placeholder,
    onInput: ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => onValue(currentTarget.value),
  }
  return (
    <label>
      {label}
      {isSecret ? <input type="password" {...shared} /> : <input type="text" {...shared} />}
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

export function Choice({ label, value, options, onValue }: FieldProps & { readonly options: readonly string[] }) {
  return (
    <label>
      {label}
      <select value={value} onChange={({ currentTarget }) => onValue(currentTarget.value)}>
        {options.map((option) => (
          <option key={option}>{option}</option>
        ))}
      </select>
    </label>
  )
}
