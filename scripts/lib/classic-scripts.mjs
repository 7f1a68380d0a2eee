/**
 * Classic scripts of a module and its dynamic imports, for service workers: those have no import(), and importScripts only
 * knows what was imported by the end of the installation.
 *
 * Chunks, as rolldown makes them in the format of CommonJS, become functions in a table, several to a file; a function runs
 * when its chunk is first asked for. The first file holds the loader. Files lie beside the script that the service worker
 * was registered with, or where `self.plumblineBase` says.
 */

/** Names of the chunks that come with one: its static imports and theirs, and dynamic ones that `into` lets through. */
function closure(chunks, from, into) {
  const found = new Set();
  const follow = (name) => {
    const chunk = chunks.get(name);
    if (chunk === undefined || found.has(name)) return;
    found.add(name);
    for (const imported of chunk.imports) follow(imported);
    for (const imported of chunk.dynamicImports) if (into(chunks.get(imported))) follow(imported);
  };
  follow(from);
  return found;
}

/**
 * The file of each chunk, by its suffix; '' is the first file.
 *
 * @param plan - see `classicScripts`
 */
function place(chunks, { roots, shared, aside }) {
  const chunkOf = (module) => {
    const found = [...chunks.values()].find(({ facadeModuleId }) => facadeModuleId?.endsWith(module));
    if (found === undefined) throw new Error(`${module} is no chunk of its own: is it imported statically?`);
    return found;
  };
  const kinds = Object.entries(roots).map(([suffix, module]) => [suffix, chunkOf(module)]);
  const asides = Object.entries(aside).flatMap(([suffix, modules]) => modules.map((one) => [suffix, chunkOf(one)]));
  const [isKind, isAside] = [kinds, asides].map((begins) => (chunk) => begins.some(([, begin]) => begin === chunk));
  /** The kinds that come to each chunk. */
  const usersOf = (into) => {
    const users = new Map([...chunks.keys()].map((name) => [name, []]));
    for (const [suffix, { fileName }] of kinds) {
      for (const name of closure(chunks, fileName, into)) users.get(name).push(suffix);
    }
    return users;
  };
  const users = usersOf((chunk) => !isKind(chunk));
  const withoutAsides = usersOf((chunk) => !isKind(chunk) && !isAside(chunk));
  const entry = [...chunks.values()].find(({ isEntry }) => isEntry).fileName;
  const start = closure(chunks, entry, () => false);
  const always = closure(chunks, entry, isAside);
  const files = new Map();
  for (const name of chunks.keys()) {
    const of = users.get(name);
    if (start.has(name)) files.set(name, '');
    else if (withoutAsides.get(name).length === 0) continue;
    else if (always.has(name)) files.set(name, '');
    else files.set(name, of.length === 1 ? of[0] : (shared[of.join(' ')] ?? ''));
  }
  for (const [suffix, { fileName }] of asides) {
    for (const name of closure(chunks, fileName, () => false)) if (!files.has(name)) files.set(name, suffix);
  }
  for (const name of chunks.keys()) if (!files.has(name)) files.set(name, '');
  return { entry, files };
}

/** Under names that are not those of CommonJS, which tools would take the scripts for. They may follow the dots of a spread. */
const rename = (code) =>
  code
    .replace(/(?<![\w$]|(?<!\.\.)\.)require(?=\(["'`]\.)/g, '$load')
    .replace(/(?<![\w$.])exports(?=\.|,["'`])/g, '$made');

const table = (chunks) =>
  `{${chunks.map(({ fileName, code }) => `${JSON.stringify(fileName)}($load,$made){${rename(code)}\n}`).join(',\n')}}`;

/** What stands in the first file: the chunks it holds, where the others are, and how one is run. */
function loader(script, entry, files, own, { always, beside }) {
  const elsewhere = Object.fromEntries([...files].filter(([, suffix]) => suffix !== ''));
  const brought = Object.entries(always).map(([suffix, condition]) => `if(${condition})bring("${suffix}");`);
  return `(()=>{"use strict";
const chunks=${table(own)},files=${JSON.stringify(elsewhere)},beside=${JSON.stringify(beside)},ran={},here=new Set;
let installing=false,policy;
// A policy of Trusted Types may hold for the worker too. Without the right to a policy of this name, a URL stays text.
const trusted=(url)=>{
try{policy??=self.trustedTypes?.createPolicy("plumbline",{createScriptURL:(text)=>text})}catch{}
return policy?.createScriptURL(url)??url;
};
const bring=(file)=>{
if(here.has(file))return;
self.importScripts(trusted(new URL("${script}-"+file+".js",new URL(self.plumblineBase??"./",self.location.href)).href));
here.add(file);
if(installing&&file in beside)bring(beside[file]);
};
self.plumblineChunks=(more)=>{Object.assign(chunks,more)};
const load=(path)=>{
const name=path.slice(path.lastIndexOf("/")+1);
if(!(name in ran)){
if(!(name in chunks))bring(files[name]);
const made=ran[name]={};
try{chunks[name](load,made)}catch(error){delete ran[name];throw error}
}
return ran[name];
};
self.addEventListener("install",(event)=>event.waitUntil((async()=>{installing=true;${brought.join('')}})()));
load(${JSON.stringify(entry)});
})();
`;
}

/**
 * @param output - rolldown's: format cjs, `[name].js`
 * @param plan.script - name of the first file, without `.js`; the others follow it after a dash
 * @param plan.roots - end of a module's path, by the suffix of the file for what only it needs
 * @param plan.shared - suffix of the file, by the roots that need it, in their order; what others need is in the first
 * @param plan.aside - ends of modules' paths, by the suffix of the file for them and for what only they need,
 *   whatever imports them; what two files need is in the one that stands first here
 * @param plan.always - conditions, as text, by the suffix of a file that the installation brings where they hold
 * @param plan.beside - suffix of a file that the installation brings with another, by the other's
 * @returns text by file name
 */
export function classicScripts(output, plan) {
  const chunks = new Map(output.filter(({ type }) => type === 'chunk').map((chunk) => [chunk.fileName, chunk]));
  const { entry, files } = place(chunks, plan);
  const inFile = (suffix) => [...chunks.values()].filter(({ fileName }) => files.get(fileName) === suffix);
  const texts = new Map([[`${plan.script}.js`, loader(plan.script, entry, files, inFile(''), plan)]]);
  for (const suffix of new Set(files.values())) {
    if (suffix !== '') texts.set(`${plan.script}-${suffix}.js`, `self.plumblineChunks(${table(inFile(suffix))});\n`);
  }
  return texts;
}
