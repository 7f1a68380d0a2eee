/**
 * React for snippets. Its packages are CommonJS, whose names a bundle exports only if they are listed. All in one module: the snippet and the
 * hooks of `plumbline-l2/react` have one React.
 */

export { Fragment, jsx, jsxs } from 'react/jsx-runtime';
export { createRoot, hydrateRoot } from 'react-dom/client';
