import { useActionState } from 'react';

export function SignIn({ onName }: { onName: (name: string) => Promise<void> }) {
  const [problem, signIn, isBusy] = useActionState(
    (_: string, form: FormData) =>
      onName(form.get('name') as string).then(
        () => '',
        ({ message }: Error) => message,
      ),
    '',
  );
  return (
    <main className="alone">
      <h1>Chat with your agents</h1>
      <form action={signIn}>
        <label htmlFor="name">Your name</label>
        <input id="name" name="name" autoComplete="username" autoFocus required maxLength={31} />
        <button disabled={isBusy}>Sign in</button>
      </form>
      {problem && <p role="alert">{problem}</p>}
      <p className="dim">This example only pretends to sign you in: there is no password.</p>
    </main>
  );
}
