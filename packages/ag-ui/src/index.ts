export { agUiBackEnd, type AgUiOptions, type AgUiUser } from './ag-ui-back-end.ts';
