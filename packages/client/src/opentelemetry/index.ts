export { tracedFetch } from './traced-fetch.ts';
