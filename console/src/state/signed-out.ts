/** Tells the session that an answer said nobody is signed in. Apart from it, so that requests do not import it. */
type Hear = (why: string) => void;

let hear: Hear = () => undefined;

export const onSignedOut = (callback: Hear): void => {
  hear = callback;
};

export const signedOut = (why: string): void => hear(why);
