/** One of several things to choose from, with what it does. */
interface ChoiceProps {
  readonly name: string;
  readonly title: string;
  readonly says: string;
  readonly isChosen: boolean;
  readonly choose: () => void;
  readonly disabled?: boolean;
}

export function Choice({ name, title, says, isChosen, choose, disabled = false }: ChoiceProps) {
  return (
    <label class="answer">
      <input type="radio" name={name} checked={isChosen} disabled={disabled} onChange={choose} />
      <span>
        <b>{title}</b>
        <span class="quiet">{says}</span>
      </span>
    </label>
  );
}
