/** Asks the browser whether it may tell what is new while somebody looks elsewhere. */
import { allowNotifications, permission } from '../../state/notifications.ts';

export function NotifyButton() {
  switch (permission.value) {
    case 'default':
      return (
        <button type="button" class="button" onClick={() => void allowNotifications()}>
          Notify me
        </button>
      );
    case 'granted':
      return <span class="quiet">The browser tells you of new ones.</span>;
    case 'denied':
      return <span class="quiet">This browser does not allow notifications from here.</span>;
    default:
      return null;
  }
}
