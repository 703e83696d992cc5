/** A field for a name, which suggests those that are known. */
interface NameFieldProps {
  readonly id: string;
  readonly label: string;
  readonly value: string;
  readonly change: (value: string) => void;
  readonly known: readonly string[];
}

export function NameField({ id, label, value, change, known }: NameFieldProps) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        list={`${id}-known`}
        value={value}
        required
        autocomplete="off"
        onInput={(event) => change(event.currentTarget.value)}
      />
      <datalist id={`${id}-known`}>
        {known.map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
    </div>
  );
}
