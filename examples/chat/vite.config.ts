import { defineConfig } from 'vite';

const server = `http://127.0.0.1:${process.env.PORT ?? 3000}`;

/** The script `dev` serves the page from source, beside `npm start`, which answers all else. */
export default defineConfig({
  server: { proxy: { '/chat': server, '/session': server } },
});
