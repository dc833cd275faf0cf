import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Chats, type Session } from './chats.tsx';
import { SignIn } from './sign-in.tsx';

const root = createRoot(document.getElementById('root') as HTMLElement);

/** Signs in or out, or only asks who is signed in, and shows the page for it. Rejects with a sentence for the user. */
async function session(method: 'GET' | 'POST' | 'DELETE', body?: object): Promise<void> {
  const response = await fetch('/session', {
    method,
    ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  }).catch(() => undefined);
  const { problem, ...given } = (await response?.json().catch(() => undefined)) ?? {
    problem: 'The server of this page cannot be reached. Try again.',
  };
  if (problem) throw new Error(problem as string);
  const own = given as Partial<Session>;
  root.render(
    <StrictMode>
      {own.user === undefined ? (
        <SignIn onName={(name) => session('POST', { name })} />
      ) : (
        <Chats key={own.user} session={own as Session} onSignOut={() => session('DELETE')} />
      )}
    </StrictMode>,
  );
}

session('GET').catch(({ message }: Error) =>
  root.render(
    <main className="alone">
      <p role="alert">{message}</p>
      <button onClick={() => location.reload()}>Try again</button>
    </main>,
  ),
);
