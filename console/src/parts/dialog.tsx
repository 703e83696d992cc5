/** A dialog over the page. The browser keeps the focus in it; Escape and a click beside it close it. */
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Icon } from './icon.tsx';

interface DialogProps {
  readonly title: string;
  readonly close: () => void;
  readonly children: ComponentChildren;
}

export function Dialog({ title, close, children }: DialogProps) {
  const place = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => place.current?.showModal(), []);
  return (
    <dialog
      ref={place}
      class="dialog"
      aria-labelledby={heading}
      onClose={close}
      onClick={(event) => event.target === place.current && close()}
    >
      <div class="dialog-inner">
        <header>
          <h2 id={heading}>{title}</h2>
          <button type="button" class="bar-button" onClick={close} aria-label="Close">
            <Icon name="close" />
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}
