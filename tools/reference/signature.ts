import ts from 'typescript';

/** A longer signature is shown without its types. */
const MAX_LENGTH = 72;
/** The values of a type are what it is: they may be longer. */
const MAX_ALIAS_LENGTH = 110;

/** How a name or a member is used, on one line: `isOpen(turn: Turn): boolean`, `new APIError(message, options)`. */
export function signatureOf(name: string, declaration: ts.Declaration): string {
  if (ts.isConstructorDeclaration(declaration)) {
    return shorter(`new ${name}`, declaration.parameters, '');
  }
  if (ts.isIndexSignatureDeclaration(declaration)) return textOf(declaration).replace(/;$/, '');
  if (ts.isFunctionLike(declaration)) {
    const returned = declaration.type ? `: ${textOf(declaration.type)}` : '';
    return shorter(memberName(name), declaration.parameters, returned);
  }
  const type = typeOf(declaration);
  const optional = ts.isPropertySignature(declaration) && declaration.questionToken ? '?' : '';
  const isAlias = ts.isTypeAliasDeclaration(declaration);
  const short = `${memberName(name)}${optional}`;
  const whole = `${short}${isAlias ? ' =' : ':'} ${type ?? ''}`;
  const fits = whole.length <= (isAlias ? MAX_ALIAS_LENGTH : MAX_LENGTH);
  return type !== undefined && fits ? whole : short;
}

/** `extends` and what follows, or nothing. */
export function heritageOf(declaration: ts.Declaration): string {
  const isHeir = ts.isInterfaceDeclaration(declaration) || ts.isClassDeclaration(declaration);
  const types = isHeir ? (declaration.heritageClauses ?? []).flatMap(({ types }) => types) : [];
  return types.map(textOf).join(', ');
}

function shorter(
  name: string,
  parameters: ts.NodeArray<ts.ParameterDeclaration>,
  end: string,
): string {
  const given = parameters.filter((each) => textOf(each.name) !== 'this');
  const names = given.map((each) => parameterName(each));
  const types = given.map((each, index) =>
    each.type ? `${names[index]}: ${textOf(each.type)}` : (names[index] ?? ''),
  );
  const forms = [
    `${name}(${types.join(', ')})${end}`,
    `${name}(${names.join(', ')})${end}`,
    `${name}(${names.join(', ')})`,
  ];
  return forms.find(({ length }) => length <= MAX_LENGTH) ?? `${name}(…)`;
}

function parameterName({ name, initializer, questionToken }: ts.ParameterDeclaration): string {
  const optional = initializer || questionToken ? '?' : '';
  return `${ts.isIdentifier(name) ? name.text : 'options'}${optional}`;
}

function typeOf(declaration: ts.Declaration): string | undefined {
  const { type } = declaration as ts.Declaration & { type?: ts.TypeNode };
  return type && textOf(type);
}

/** TypeScript's name of an iterator is an internal one. */
function memberName(name: string): string {
  return name.replace(/^__@(asyncIterator)@\d+$/, '[Symbol.$1]');
}

/** The source on one line, without comments. */
function textOf(node: ts.Node): string {
  return node
    .getText()
    .replaceAll(/\/\*.*?\*\/|\/\/.*$/gms, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/^\| /g, '')
    .trim();
}
